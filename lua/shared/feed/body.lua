-- Large bodies. One of more than INLINE_BYTES is stored under the id of its message in the hash `bodies`; its entry in the log, or
-- what is parked of it, has its size. So the log is walked over without them: whoever removes, expires, counts or looks for
-- messages reads INLINE_BYTES of each at most.

local function is_large(bytes)
  return bytes > INLINE_BYTES
end

-- The body of an entry.
local function body_of(bodies, entry)
  return entry.body or redis.call('HGET', bodies, exact(entry.id)) or ''
end

-- How much of an entry was read with it.
local function read_of(entry)
  return entry.body and entry.bytes or 0
end
