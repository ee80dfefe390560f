--[[
Adds members; those that the guild has already stay as they are.

@returns joined  members:integer
@cost    O(names x log members)
]]
local names, names_at = ARGV, 1 -- repeated (name:text): who joins

for at = names_at, #names do
  if not is_name(names[at]) then
    return redis.error_reply('INVALID names: only small letters')
  end
end
for at = names_at, #names do
  redis.call('ZADD', keys.members, '0', names[at])
end
return { 'joined', redis.call('ZCARD', keys.members) }
