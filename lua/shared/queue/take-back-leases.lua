-- Those that could not be leased are as they were.
local function take_back_leases(jobs, queue, taken)
  local runs = {}
  for at = 1, #taken, 3 do
    local seq, record, packed = taken[at], taken[at + 1], taken[at + 2]
    if not packed then
      local is_plain = string.byte(record) > 0
      local name = is_plain and plain_name(record, queue.usual) or read_job(record, queue.usual).name
      packed = pack_run('r', 0, 0, math.floor(seq / 1000), #record, is_plain and PLAIN or 0, name)
    end
    runs[#runs + 1] = 'r' .. seq
    runs[#runs + 1] = packed
  end
  redis.call('HSET', jobs, unpack(runs))
end
