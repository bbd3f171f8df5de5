// Evaluates the conditions of a GraphQL document, which are its directives @include and @skip. A query gets a separate plan for each
// combination of values of the variables in its conditions. A plan omits the fields that its combination of values excludes, so the
// execution of the plan evaluates no conditions.
import { type ASTNode, BREAK, type DirectiveNode, type DocumentNode, Kind, type ValueNode, visit } from 'graphql';

/** Maximum number of variables in the conditions of a query that has plans, because each variable doubles the number of plans. */
const maxVariables = 4;

/**
 * Returns the names of the variables in the conditions. Null, so that the query gets no plan, if there are too many variables, or if the
 * document has a directive other than `@include` and `@skip`.
 */
export function variablesOfConditions(document: DocumentNode): string[] | null {
  const names = new Set<string>();
  let isPlain = true;
  visit(document, {
    Directive(directive) {
      const condition = conditionOf(directive);
      if (condition?.kind === Kind.VARIABLE) names.add(condition.name.value);
      if (condition && names.size <= maxVariables) return undefined;
      isPlain = false;
      return BREAK;
    },
  });
  return isPlain ? [...names] : null;
}

/**
 * Returns a copy of the document without its directives, and without the fields and fragments that the directives exclude when the variables
 * have the values in `choice`. A selection set of the copy may be empty.
 */
export function chosen(document: DocumentNode, choice: Readonly<Record<string, unknown>>): DocumentNode {
  const isTrue = (condition: ValueNode) =>
    condition.kind === Kind.VARIABLE
      ? choice[condition.name.value] === true
      : 'value' in condition && condition.value === true;
  const applies = (directive: DirectiveNode) =>
    isTrue(conditionOf(directive)!) === (directive.name.value === 'include');
  const select = <N extends ASTNode & { directives?: readonly DirectiveNode[] | undefined }>(node: N) => {
    if (!node.directives?.length) return undefined;
    return node.directives.every(applies) ? { ...node, directives: [] } : null;
  };
  return visit(document, { Field: select, FragmentSpread: select, InlineFragment: select });
}

function conditionOf({ name, arguments: args }: DirectiveNode): ValueNode | undefined {
  return name.value === 'include' || name.value === 'skip' ? args?.[0]?.value : undefined;
}
