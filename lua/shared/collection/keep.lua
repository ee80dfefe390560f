-- Redis drops the keys only this long after they have ceased to count: the items after a minute, what is
-- known of calls when none is repeated any more.
local ITEMS_SLACK_MS = 60000
local META_SLACK_MS = 600000

local function keep_until(meta, items, expires_at_ms, now_ms)
  redis.call('PEXPIRE', meta, exact(expires_at_ms - now_ms + META_SLACK_MS))
  redis.call('PEXPIRE', items, exact(expires_at_ms - now_ms + ITEMS_SLACK_MS))
end
