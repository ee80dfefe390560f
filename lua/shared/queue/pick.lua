-- A setting as it is to be: what is negative stays as it was.
local function pick(new, old)
  return new < 0 and old or new
end
