// The MCP server through which an agent asks people questions. The runner offers it to every harness. It has one tool.
import type { Json } from '../harness/fragments.ts';
import { clip } from '../text.ts';
import type { Questions } from './questions.ts';
import { type ToolServer, textResult } from './tool-server.ts';

export const askTool = 'ask_person';
/** Maximum number of characters of a question and of a choice, and maximum number of choices. */
const limits = { question: 4_000, choice: 200, choices: 4 };

const description =
  'Asks the people responsible for this mission, and waits for the answer, which may take hours. Use it when the task leaves a ' +
  'decision open that you are not allowed to make, or information is missing that you cannot find. Ask one precise question; the person sees neither ' +
  'your thoughts nor your files.';
const tool = {
  name: askTool,
  title: 'Ask a person',
  description,
  inputSchema: {
    type: 'object',
    properties: {
      question: { type: 'string', minLength: 1, maxLength: limits.question },
      choices: {
        type: 'array',
        description: 'Answers to choose from. The person may write something else.',
        items: { type: 'string', minLength: 1, maxLength: limits.choice },
        minItems: 2,
        maxItems: limits.choices,
      },
    },
    required: ['question'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
};

export const peopleServer = (questions: Questions): ToolServer => ({
  name: 'people',
  tools: async () => [tool],
  async call(_, args, left) {
    const question = readQuestion(args);
    if (typeof question === 'string') return textResult(question, true);
    const answer = await questions.ask(question, left);
    return answer && textResult(`${answer.author} answers: ${answer.text}`);
  },
});

/** Validates the arguments of the tool. @returns the question, or the error in the arguments as text */
function readQuestion({ question, choices }: Json): { body: string; choices?: string[] } | string {
  if (typeof question !== 'string' || question.trim() === '' || question.length > limits.question)
    return `question: must be a text of 1 to ${limits.question} characters.`;
  if (choices === undefined || choices === null) return { body: question.toWellFormed() };
  const isRight =
    Array.isArray(choices) &&
    choices.length > 0 &&
    choices.length <= limits.choices &&
    choices.every((choice) => typeof choice === 'string' && choice.trim() !== '');
  if (!isRight) return `choices: must be at most ${limits.choices} texts.`;
  return { body: question.toWellFormed(), choices: choices.map((choice) => clip(choice, limits.choice)) };
}
