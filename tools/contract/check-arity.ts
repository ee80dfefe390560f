import type { Refuse } from './head.ts'
import { argumentsOf, lineOf } from './scope.ts'
import type { Script } from './script.ts'

/** Lua drops what a function has no parameter for: it is mostly what was meant for another one. */
export function checkArity({ names }: Script, refuse: Refuse): void {
  for (const call of names.calls) {
    const binding = names.bindingOf(call.base)
    const parameters = binding?.fn?.parameters
    if (binding === null || parameters === undefined || binding.writes.length > 0) continue
    const isOpen = parameters.some(({ type }) => type === 'VarargLiteral')
    const given = argumentsOf(call).length
    if (isOpen || given <= parameters.length) continue
    const takes = parameters.map((each) => (each.type === 'Identifier' ? each.name : '')).join(', ')
    refuse(
      lineOf(call),
      `${binding.name} takes (${takes}), and gets ${given} values: leave out what is too much`,
    )
  }
}
