-- Redis drops the hash this long after it has ceased to count, and the clock is past its token: longer than any call is repeated.
local SLACK_MS = 600000

-- Not refused for lack of memory: what writes after it in the same script is then let through as well.
local function keep_until(state, token, kept_until_ms, now_ms)
  redis.call('PEXPIRE', state, math.max(kept_until_ms - now_ms, behind_ms(token, now_ms)) + SLACK_MS)
end

local function holds_token(known, token)
  return known.token > 0 and known.token == token
end
