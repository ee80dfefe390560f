-- Jobs by their tags, in one sorted set without scores: '<tag>\0<number>'. A job that somebody follows has an empty tag more.
local function enter_tags(tagged, seq, tags)
  local members = {}
  for tag in string.gmatch(tags, '[^%z]+') do
    members[#members + 1] = '0'
    members[#members + 1] = tag .. '\0' .. seq
  end
  if #members > 0 then
    redis.call('ZADD', tagged, unpack(members))
  end
end
