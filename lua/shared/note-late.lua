-- Notes the process of an attempt that did not take what it was offered, by what has ended: an offer ends a second after it was
-- made; what was asked for lasts longer, or was for no longer.
local function note_late(unit, id, token, ended_ms)
  if id ~= '' and ended_ms - math.floor(token / 1000) <= 1000 then
    unit.late = unit.late or {}
    unit.late[string.match(id, '^[^.]*')] = true
  end
end
