-- Tokens rise where the newest is remembered, or the clock is past it. So what holds a newest token is kept until then, however
-- far the clock has stepped back.

-- How many milliseconds the clock is behind a token; 0: it is not.
local function behind_ms(token, now_ms)
  return math.max(0, math.ceil(token / 1000) - now_ms)
end
