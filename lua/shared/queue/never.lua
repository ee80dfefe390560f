-- What `due_ms` of a queue is where nothing will be due; see shared/queue/note-due.
local NEVER_MS = 9007199254740991
