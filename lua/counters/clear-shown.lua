--[[
Removes the shown values and the notes of a partition whose counts are in SQL; also what a caller that counts in Redis
left under its name, so that no epoch goes on without the place of the counters. `unflushed`: that has increments which
are not in SQL, and nothing was removed. Safe to repeat.

@returns cleared
@returns absent
@returns unflushed
@cost    O(1); Redis frees the memory in the background
]]

if redis.call('EXISTS', keys.pending, keys.rest, keys.sealed) > 0 then
  return { 'unflushed' }
end
if clear_all(keys) == 0 then
  return { 'absent' }
end
return { 'cleared' }
