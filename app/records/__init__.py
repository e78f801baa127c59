"""The frozen events of all logs, their one-line form, their ids and the names of projects; nothing here does I/O."""
