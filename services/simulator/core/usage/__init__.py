"""What pods would use if they ran: synthetic traces, read by the metrics API and autoscalers."""
