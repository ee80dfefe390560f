// The stage of the current topology. It is kept from one run to the next, unless a run broke it.

import type { Cell } from './cell.ts'
import { type RunOptions, runCell, type Verdict } from './run.ts'
import { TOPOLOGIES } from './topologies/all.ts'
import type { Stage } from './topologies/topology.ts'

export class Stages {
  #name = ''
  #stage: Stage | undefined

  async run(cell: Cell, options: RunOptions = {}): Promise<Verdict> {
    const stage = await this.#stageOf(cell.topology)
    try {
      return await runCell(cell, stage, options)
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  async stop(): Promise<void> {
    const stage = this.#stage
    this.#stage = undefined
    await stage?.stop()
  }

  async #stageOf(name: string): Promise<Stage> {
    if (this.#name !== name) await this.stop()
    this.#name = name
    this.#stage ??= await TOPOLOGIES[name]?.start()
    if (this.#stage === undefined) throw new Error(`there is no topology ${name}`)
    return this.#stage
  }
}
