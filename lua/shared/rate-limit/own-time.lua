-- The time of a subject, by which all that counts for it is told. It goes as the server's clock does and never steps
-- back: where the clock has, by itself or because a node took over whose clock is behind, it goes on from the newest take,
-- whose token is its time, and `offset` is how far it is ahead of the clock from then on. So what was taken counts for as
-- long as it was to, and no longer.

-- Tokens lie ahead of their takes where these come faster than the clock ticks, and by less than this. A smaller step of
-- the clock is waited for.
local STEP_US = 10000
