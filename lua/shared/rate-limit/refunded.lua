-- Tokens that were refunded, oldest first, as doubles: a take is given back once. The list is short; what
-- is as old as the ones it has forgotten counts as refunded.
local MOST_REFUNDED = 64

local function is_refunded(refunded, token)
  local places = #refunded / 8
  for place = 1, places do
    local known = struct.unpack('>d', refunded, (place - 1) * 8 + 1)
    if known == token or (place == 1 and places == MOST_REFUNDED and token < known) then
      return true
    end
  end
  return false
end

local function note_refunded(refunded, token)
  local place = #refunded / 8
  while place > 0 and struct.unpack('>d', refunded, (place - 1) * 8 + 1) > token do
    place = place - 1
  end
  local list = string.sub(refunded, 1, place * 8)
    .. struct.pack('>d', token)
    .. string.sub(refunded, place * 8 + 1)
  return #list > MOST_REFUNDED * 8 and string.sub(list, 9) or list
end
