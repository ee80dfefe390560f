-- What counts for one subject: one hash, read once and written once a call.
--   layout              the form of the stored data
--   <algorithm>:<name>  what a limit has counted: doubles one behind the other
--     kept_until_ms     the key is kept until then at least
--     token             its newest token
--     …                 see the fragment of the algorithm
--   time                what time it is for the subject; see shared/rate-limit/own-time
--   refunded            tokens that have been refunded; see shared/rate-limit/refunded
--   <caller>            the record of a slot; see shared/rate-limit/calls
local SUBJECT_LAYOUT = '1'
local FIRST_LIMIT = 5

-- The subject with what its limits have counted; from `first` on stand the groups of the limits.
local function open_subject(state, caller, limits, first)
  local fields = { 'layout', 'refunded', caller, 'time' }
  for at = first, #limits, 5 do
    fields[#fields + 1] = limits[at + 1] .. ':' .. limits[at]
  end
  local stored = redis.call('HMGET', state, unpack(fields))
  local token, taken_us, offset_us = read_time(stored[4])
  return {
    exists = stored[1],
    layout = stored[1] or SUBJECT_LAYOUT,
    refunded = stored[2] or '',
    record = stored[3],
    token = token,
    taken_us = taken_us,
    offset_us = offset_us,
    fields = fields,
    counts = stored,
  }
end
