-- Whether it is time for what the state of a feed plans; 0: nothing is planned.
local function has_come(moment, now)
  return moment ~= 0 and moment <= now
end
