-- A queue that nobody has begun is not stored, but for those who wait for its first job, or listen to its events. What is
-- known of these goes with the last of them, and by itself should none come back: they look again far more often.
local AWAITED_KEPT_MS = '7200000'

local function save_awaited(meta, queue, packed, caller, record)
  if queue.idle == 0 and queue.listened_ms == 0 then
    redis.call('UNLINK', meta)
    return
  end
  redis.call('HSET', meta, 'layout', queue.layout, 'state', packed)
  if caller then
    redis.call('HSET', meta, caller, record)
  end
  redis.call('PEXPIRE', meta, AWAITED_KEPT_MS)
end
