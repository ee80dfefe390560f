// qless by our port: it has no worker of its own here, as its clients poll.

import { Redis } from 'ioredis'
import type { Contender, Job, Source } from './contender.ts'
import { COMPLETE, POP, PUT } from './qless-port.ts'

const WORKER = 'bench-worker'

interface Popped {
  readonly jid: string
  readonly data: string
}

export const qless: Contender = {
  name: 'qless (our port)',
  settings: 'its defaults: heartbeat 60 s, the last 50,000 jobs kept; no package, see queue/qless-port.ts',
  heeds: [],
  async connect(port: number, queue: string): Promise<Source> {
    const connection = new Redis(port)
    const load = async (script: string): Promise<string> => String(await connection.script('LOAD', script))
    const [put, pop, complete] = [await load(PUT), await load(POP), await load(COMPLETE)]
    const call = (hash: string, ...args: readonly (string | number)[]): Promise<unknown> =>
      connection.evalsha(hash, 0, Date.now() / 1000, ...args)
    return {
      sends: [],
      add: ({ payload }: Job) =>
        call(put, WORKER, queue, `${queue}-${payload}`, 'Bench', JSON.stringify(payload)),
      async pop() {
        const [job] = JSON.parse(String(await call(pop, WORKER, queue, 1))) as Popped[]
        if (job === undefined) throw new Error('no job waits')
        return () => call(complete, job.jid, WORKER, queue, job.data)
      },
      close: async () => connection.disconnect(),
    }
  },
}
