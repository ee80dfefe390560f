-- A fencing token: greater than every earlier one, also when the server has lost its tail or tells time
-- in milliseconds.
local function next_token(last, now_us)
  return math.max(last + 1, now_us)
end
