-- A marker is '<epoch>-<position>', both server microseconds: every message up to that position is
-- behind the reader. One that pages through delayed messages adds '-<visible_at_us>-<id>'.

local function format_marker(epoch, position)
  return string.format('%.0f-%.0f', epoch, position)
end

-- nil when the text is no marker.
local function parse_marker(text)
  local epoch, position, rest = string.match(text, '^(%d+)%-(%d+)(.*)$')
  local visible_at_us, id = string.match(rest or '', '^%-(%d+)%-(%d+)$')
  if not epoch or (rest ~= '' and not id) or #text > 70 then
    return nil
  end
  return {
    epoch = tonumber(epoch),
    position = tonumber(position),
    visible_at_us = tonumber(visible_at_us),
    id = tonumber(id),
    suffix = rest,
  }
end
