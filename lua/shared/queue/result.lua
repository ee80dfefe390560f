-- The end of a job, as it is kept: in the hash of results under 'v' and the id of its user how it ended, and under 'u' and the
-- id until when.
local function pack_result(result, now_ms)
  return struct.pack(
    '>c1ddHc0I4',
    result.state,
    tonumber(result.seq),
    now_ms,
    #result.kind,
    result.kind,
    #result.message
  ) .. result.message .. result.result
end

local function unpack_result(packed)
  local state, number, at_ms, kind, length, message_at = struct.unpack('>c1ddHc0I4', packed)
  return {
    state = state,
    number = number,
    at_ms = at_ms,
    kind = kind,
    message = string.sub(packed, message_at, message_at + length - 1),
    result = string.sub(packed, message_at + length),
  }
end
