-- What counts for one subject: one hash, read once and written once a call.
--   layout              the form of the stored data
--   <algorithm>:<name>  what a limit has counted: doubles one behind the other
--     kept_until_ms     the key is kept until then at least
--     token             the newest token: when the last take was, in microseconds of its time
--     …                 see the fragment of the algorithm
--   offset              how far its time is ahead of the server's clock; see shared/rate-limit/own-time
--   refunded            tokens that have been refunded; see shared/rate-limit/refunded
--   <caller>            the record of a slot; see shared/rate-limit/calls
local SUBJECT_LAYOUT = '1'
local FIRST_LIMIT = 5

-- The subject with what its limits have counted; from `first` on stand the groups of the limits.
local function open_subject(state, caller, limits, first)
  local fields = { 'layout', 'refunded', caller, 'offset' }
  for at = first, #limits, 5 do
    fields[#fields + 1] = limits[at + 1] .. ':' .. limits[at]
  end
  local stored = redis.call('HMGET', state, unpack(fields))
  return {
    exists = stored[1],
    layout = stored[1] or SUBJECT_LAYOUT,
    refunded = stored[2] or '',
    record = stored[3],
    offset_us = tonumber(stored[4] or 0),
    fields = fields,
    counts = stored,
  }
end
