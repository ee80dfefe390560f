-- Where a reader begins, and what it has to be told; nil when `after` is not a marker.
local function where_to_start(feed, after)
  if after == '' then
    return { position = 0, suffix = '' }
  elseif after == 'end' then
    return { position = feed.last, suffix = '' }
  end
  local start = parse_marker(after)
  if not start then
    return nil
  end
  start.reset, start.gap = false, false
  if start.epoch ~= feed.epoch then
    -- Epoch 0: the reader came before the feed had begun, and has lost nothing but what was trimmed.
    start.reset = start.epoch ~= 0
    start.gap = start.epoch == 0 and feed.trimmed > 0
    start.position, start.suffix, start.visible_at_us = 0, '', nil
  elseif start.position > feed.last then
    start.reset = true
    start.position = feed.last
  else
    start.gap = start.position < feed.trimmed
  end
  return start
end
