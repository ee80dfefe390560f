-- The time of a subject, by which all that counts for it is told. It goes as the server's clock does and never steps
-- back: where the clock has, by itself or because a node took over whose clock is behind, it goes on from the newest take.
-- So what was taken counts for as long as it was to, and no longer.
--
-- The field `time` is its only source, for all limits and in every call: a call may not name the limit of the newest take.
-- Doubles, none of which ever shrinks; only the first is stored where the second is alike and the third 0:
--   token      the newest token of the subject
--   taken_us   what time it was for the subject in the newest take; the token is ahead of that where takes come faster
--              than the clock ticks
--   offset_us  how far its time is ahead of the server's clock
-- Until 0.1.0 it was not written; then the tokens of the limits that a call names are all that is known.

-- A smaller step of the clock is waited for.
local STEP_US = 10000

local function read_time(stored)
  if not stored then
    return 0, 0, 0
  elseif #stored > 8 then
    return struct.unpack('>ddd', stored)
  end
  local token = struct.unpack('>d', stored)
  return token, token, 0
end

local function pack_time(token, taken_us, offset_us)
  if token == taken_us and offset_us == 0 then
    return struct.pack('>d', token)
  end
  return struct.pack('>ddd', token, taken_us, offset_us)
end
