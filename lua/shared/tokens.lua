-- A fencing token: greater than every earlier one, also if the server has lost its tail or its clock has only
-- milliseconds.
local function next_token(last, now_us)
  return math.max(last + 1, now_us)
end
