-- What is known of a partition of counters: one hash, read once a call.
--   layout         the form of the stored data
--   epoch          of the ledger in SQL, which this life of the partition counts its batches in; 0: none yet
--   seq            number of the newest sealed batch of the epoch; 0: none yet
--   batch          id of the sealed batch; '' or not there: none is sealed
--   pending_ms     when the oldest increment came that is neither sealed nor set aside; 0: all are
--   rest_ms        when the oldest increment came of those that were set aside, of which some are not sealed; 0: all are
--   sealed_ms      when the oldest increment of the sealed batch came
--   ledger         where the ledger is; not there: nobody could tell
-- And by caller, in the same hash, the last call and answer of every slot (shared/calls).
local COUNTERS_LAYOUT = '1'

local function open_partition(meta, caller)
  local stored =
    redis.call('HMGET', meta, 'layout', 'epoch', 'seq', 'batch', 'pending_ms', 'rest_ms', 'sealed_ms', caller)
  return {
    layout = stored[1] or COUNTERS_LAYOUT,
    epoch = tonumber(stored[2] or 0),
    seq = tonumber(stored[3] or 0),
    batch = stored[4] or '',
    pending_ms = tonumber(stored[5] or 0),
    rest_ms = tonumber(stored[6] or 0),
    sealed_ms = tonumber(stored[7] or 0),
    record = stored[8],
  }
end
