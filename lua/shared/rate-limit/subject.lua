-- What counts for one subject: one hash, read once and written once a call.
--   layout              the form of the stored data
--   head                doubles one behind the other
--     kept_until_ms     Redis drops the key then
--     token             the newest token: when the last take was, in server microseconds
--   <algorithm>:<name>  what a limit has counted; see the fragment of its algorithm
--   refunded            tokens that have been refunded; see shared/rate-limit/refunded
--   <caller>            the record of a slot; see shared/calls
local SUBJECT_LAYOUT = '1'
local NO_HEAD = string.rep('\0', 16)
-- Takes that lie further ahead of the clock than this were made before it stepped back.
local CLOCK_SLACK_US = 1000000

-- The subject with what its limits have counted, from `first` on the groups of the limits on. Its
-- counts are forgotten when the clock has stepped back behind them: else nobody could take anything
-- until it has caught up.
local function open_subject(state, caller, limits, first)
  local fields = { 'layout', 'head', caller, 'refunded' }
  for at = first, #limits, 5 do
    fields[#fields + 1] = limits[at + 1] .. ':' .. limits[at]
  end
  local stored = redis.call('HMGET', state, unpack(fields))
  local layout = stored[1] or SUBJECT_LAYOUT
  local readable = layout == SUBJECT_LAYOUT and stored[2] or NO_HEAD
  local kept_until_ms, token = struct.unpack('>dd', readable)
  return {
    exists = stored[1],
    layout = layout,
    record = stored[3],
    refunded = stored[4] or '',
    kept_until_ms = kept_until_ms,
    token = token,
    fields = fields,
    counts = stored,
  }
end
