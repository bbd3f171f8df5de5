// The error message of a field whose value the service refused. The field refers to the message by its id, in `aria-describedby`.

export const FieldError = ({ id, text }: { id?: string; text: string | null | undefined }) =>
  text ? (
    <p class="field-error" id={id}>
      {text}
    </p>
  ) : null;
