"""The process that every service is: settings, logging, metrics, clock, servers, channels, errors."""
