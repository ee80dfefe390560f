-- Where the counts are that are shown, if that is another place than this one. Whoever cannot tell is believed.
local function other_place(board, place)
  local known = redis.call('HGET', board, 'place')
  return known and place ~= '' and known ~= place and known or nil
end
