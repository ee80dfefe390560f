-- Takes back that messages were claimed: they came to nobody, and must not become dead letters for that.
local function uncount(work, places)
  local known = {}
  for at, text in ipairs(redis.call('HMGET', work, unpack(places))) do
    if text then
      local record = parse_work(text)
      record.claims = math.max(0, record.claims - 1)
      known[#known + 1] = places[at]
      known[#known + 1] = format_work(record)
    end
  end
  if #known > 0 then
    redis.call('HSET', work, unpack(known))
  end
end
