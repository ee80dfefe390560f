-- Names are small letters only: `{` and the sign before `a` may then stand around them.
local function is_name(text)
  return string.match(text, '^[a-z]+$') ~= nil
end
