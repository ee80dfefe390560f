-- Redis drops the hash this long after it has ceased to count: longer than any call is repeated.
local LOAD_SLACK_MS = 600000

-- Never makes it shorter. Not refused for lack of memory.
local function keep_load(load, ms)
  if redis.call('PTTL', load) < ms + LOAD_SLACK_MS then
    redis.call('PEXPIRE', load, ms + LOAD_SLACK_MS)
  end
end
