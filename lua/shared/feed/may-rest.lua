-- Whether a feed has come to be empty that was to stay, as far as its state tells; see shared/feed/rest.
local function may_rest(feed)
  return feed.bytes == 0 and feed.kept_until == -1 and feed.visible_at_us == 0 and feed.epoch ~= 0
end
