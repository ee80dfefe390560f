-- Takes a job from its tags; see shared/queue/enter-tags.
local function leave_tags(tagged, seq, tags, is_tracked)
  if is_tracked then
    redis.call('ZREM', tagged, '\0' .. seq)
  end
  for tag in string.gmatch(tags, '[^%z]+') do
    redis.call('ZREM', tagged, tag .. '\0' .. seq)
  end
end
