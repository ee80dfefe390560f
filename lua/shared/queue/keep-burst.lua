-- Changes to bursts; see shared/queue/burst. They come before the settings: to remove one may be refused, and a queue that goes on by its
-- settings is to know what is due. Before them something is written that a server out of memory refuses: behind a removal it takes all.

-- Answers by how many fields there are more.
local function keep_burst(hash, field, rate)
  if rate.rate_limit == 0 or rate.rate_burst == 0 then
    return -redis.call('HDEL', hash, field)
  end
  local text = string.format('%.0f,%.0f,%.0f', rate.rate_limit, rate.rate_window_ms, rate.rate_burst)
  return redis.call('HSET', hash, field, text)
end
