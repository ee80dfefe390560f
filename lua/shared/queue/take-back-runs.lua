-- Jobs that could not be leased are ready again, as they were.
local function take_back_runs(jobs, runs)
  for at = 2, #runs, 2 do
    local _, _, _, _, size, _, name_at = struct.unpack('>c1dHdI4B', runs[at])
    local at_ms, name = math.floor(string.sub(runs[at - 1], 2) / 1000), string.sub(runs[at], name_at)
    runs[at] = struct.pack('>c1dHdI4Bc0', 'r', 0, 0, at_ms, size, PLAIN, name)
  end
  redis.call('HSET', jobs, unpack(runs))
end
