-- The keys of a queue.
return {
  meta = 'hash', -- the queue's state
  jobs = 'hash', -- all data of each job
  ready = 'list', -- ready jobs without group and priority
  prioritized = 'sorted set', -- ready jobs with a priority -> the lower the sooner
  scheduled = 'sorted set', -- jobs that wait for their time -> that time, in ms
  leases = 'sorted set', -- claimed jobs -> when the lease ends, in ms
  grouped = 'sorted set', -- ready jobs of groups -> number of the group
  groups = 'hash', -- the groups
  turns = 'list', -- groups that may be served, in turn
  held = 'sorted set', -- groups held back by their rate -> until when, in ms
  ids = 'hash', -- ids and unique keys of users
  dead = 'sorted set', -- dead jobs -> when they died, in ms
  failed = 'sorted set', -- dead jobs -> number of the kind of their failure
  kinds = 'hash', -- kinds of failures
  done = 'sorted set', -- jobs that are done and kept -> when they ended, in ms
  idle = 'sorted set', -- waiting workers -> their number
  blocked = 'sorted set', -- jobs that wait for their dependencies -> their number
  children = 'sorted set', -- ref of a dependency and the dependent that waits for it
  parents = 'sorted set', -- ref of a dependency -> 0: it has ended; else when to check it, in ms
  outbox = 'sorted set', -- entries for other queues -> their number
  inbox = 'hash', -- other queue -> number of the newest entry received from it
  recurrences = 'hash', -- recurring jobs
  recurring = 'sorted set', -- recurring jobs -> when they run next, in ms
  short = 'sorted set', -- recurring jobs that run out of known times -> the last of them, in ms
  results = 'hash', -- ends of jobs, for waiters
  listeners = 'hash', -- event listeners, their channels, and the number of the newest message
  tagged = 'sorted set', -- '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
  notes = 'string', -- notes not yet folded into the statistics; see shared/queue/statistics
  stats = 'hash', -- statistics of minutes, hours and days
}
