"""What was concluded and measured, read back: values in, values out."""
