--[[
Lists the kinds of failures of dead jobs: the number of jobs of each kind, when the first and the newest of them died,
and the number and the message of the newest. At most a thousand kinds.

@returns dead  kinds:[kind:text count:integer first_ms:integer last_ms:integer number:integer message:text]
@cost    O(kinds)
@reads
]]

try(open_queue(keys.meta))
local stored = redis.call('HSCAN', keys.kinds, '0', 'COUNT', '1000')[2]
local reported = {}
for at = 1, #stored, 2 do
  local _, count, first_ms, last_ms, seq, message =
    string.match(stored[at + 1], '^(%d+) (%d+) (%d+) (%d+) (%d+) (.*)$')
  local parts = { stored[at], tonumber(count), tonumber(first_ms), tonumber(last_ms), tonumber(seq), message }
  for _, part in ipairs(parts) do
    reported[#reported + 1] = part
  end
end
return { 'dead', reported }
