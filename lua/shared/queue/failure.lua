-- The newest failure of a job, in the hash of jobs under 'e' and its number: when, of what kind, and its message.

local function pack_failure(at_ms, kind, message)
  return struct.pack('>dHc0', at_ms, #kind, kind) .. message
end

local function unpack_failure(packed)
  local at_ms, kind, message_at = struct.unpack('>dHc0', packed)
  return at_ms, kind, string.sub(packed, message_at)
end
