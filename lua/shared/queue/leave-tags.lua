-- Takes a job from its tags; see shared/queue/enter-tags.
local function leave_tags(tagged, seq, tags, is_tracked)
  local members = { is_tracked and '\0' .. seq or nil }
  for tag in string.gmatch(tags, '[^%z]+') do
    members[#members + 1] = tag .. '\0' .. seq
  end
  if #members > 0 then
    redis.call('ZREM', tagged, unpack(members))
  end
end
