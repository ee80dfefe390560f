-- Redis drops the hash this long after it has ceased to count, and the clock is past its token: longer than any call is repeated.
local LOAD_SLACK_MS = 600000

-- Never makes it shorter. Not refused for lack of memory.
local function keep_load(load, token, ms, now_ms)
  local kept_ms = math.max(ms, behind_ms(token, now_ms)) + LOAD_SLACK_MS
  if redis.call('PTTL', load) < kept_ms then
    redis.call('PEXPIRE', load, kept_ms)
  end
end
