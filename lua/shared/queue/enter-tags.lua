-- Jobs by their tags, in one sorted set without scores: '<tag>\0<number>'. A job that somebody follows has an empty tag more.
local function enter_tags(tagged, seq, tags)
  for tag in string.gmatch(tags, '[^%z]+') do
    redis.call('ZADD', tagged, '0', tag .. '\0' .. seq)
  end
end
