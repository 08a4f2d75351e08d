"""lpn latency: open-loop traffic through a net, and how long its requests take."""
