"""The best of many candidates, by simulating few: search.tune, which is lpn.tune.

`search` chooses and counts, `guide` predicts which are worth a trial, `journal` keeps them on disk.
"""
