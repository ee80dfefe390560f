-- ARGV: life in ms, origin, bodies
local first = math.max(read_number('last') + 1, clock_us())
for at = 3, #ARGV do
  add_message(first + at - 3, ARGV[1], ARGV[2], ARGV[at])
end
redis.call('HSET', meta, 'last', first + #ARGV - 3)
return first
