"""The commands of `lpn`, a module each; `main` ends them all. Nothing else imports from here.
"""
