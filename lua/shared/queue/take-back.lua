-- Records, with their runs, of jobs that may not stand in the list: the call is refused. A run that was written for one that was to be
-- handed over goes as well.
local function take_back_records(jobs, fields)
  local names = {}
  for at = 1, #fields, 2 do
    names[#names + 1] = fields[at]
    names[#names + 1] = 'r' .. fields[at]
  end
  for at = 1, #names, 2000 do
    redis.pcall('HDEL', jobs, unpack(names, at, math.min(at + 1999, #names)))
  end
end
