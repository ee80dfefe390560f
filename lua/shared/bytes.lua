-- A call reads or answers no more payloads behind the one with which they reach this.
local CALL_BYTES = 4194304

-- A body of more bytes than this is not stored where elements are listed, but beside: what needs no bodies reads no more than this
-- of each, and can tell before it reads how many are too many.
local INLINE_BYTES = 16384
