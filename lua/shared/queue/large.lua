-- From how many bytes on the payload of a job is large; see shared/queue/body.
local INLINE_BYTES = 16384

-- How many bytes of payloads one call reads or answers: it stops behind the one that reaches this.
local CALL_BYTES = 4194304
